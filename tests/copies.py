"""Work in a copy of the process of the tests: a process of its own that has loaded all libraries already."""

import os
import sys
import traceback


def in_a_copy(work):
    """Call a function in a copy of this process; with which code it ended, as a command would."""
    process = os.fork()
    if process == 0:
        _work_and_end(work)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _work_and_end(work):
    code = 70
    try:
        work()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
