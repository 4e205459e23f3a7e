"""Logs of evaluations as Inspect, lm-evaluation-harness and promptfoo write them, with few of their fields."""

import json
import zipfile


def inspect_samples(verdicts, epochs=1, scorer="match"):
    """Samples by their verdicts: ``verdicts[i]`` is the value of item i's score, in every epoch."""
    return [
        {
            "id": number,
            "epoch": epoch,
            "input": f"question {number}",
            "target": "ABCD"[number % 4],
            "metadata": {"question": f"q{number // 2}"},
            "scores": {scorer: {"value": value, "answer": "A"}},
            "model_usage": {},
            "completed": True,
        }
        for number, value in enumerate(verdicts)
        for epoch in range(1, epochs + 1)
    ]


def inspect_header(**changes):
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "popularity", "model": "ollama/gemma3", "dataset": {"samples": 3}},
        "plan": {"name": "plan", "steps": []},
        "results": {"total_samples": 3, "scores": [{"name": "match", "metrics": {"accuracy": {"value": 1.0}}}]},
        "stats": {"started_at": "2025-07-05T09:59:40-04:00"},
        **changes,
    }


def write_inspect(path, samples, **header):
    """As an archive, or as JSON."""
    if path.suffix == ".json":
        path.write_text(json.dumps(inspect_header(**header) | {"samples": samples}, indent=2))
        return path
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("_journal/start.json", json.dumps({"version": 2}))
        for sample in samples if isinstance(samples, list) else ():
            file.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        file.writestr("_journal/summaries/1.json", json.dumps(samples))
        file.writestr("summaries.json", json.dumps(samples))
        file.writestr("header.json", json.dumps(inspect_header(**header)))
    return path


def harness_lines(scores, filters=("none",), **metrics):
    """Documents by what each filter makes of them: ``scores[filter][i]`` is the metric of document i."""
    return [
        {
            "doc_id": number,
            "doc": {"question": "?", "subject": f"s{number // 2}"},
            "target": "1",
            "arguments": {"gen_args_0": {"arg_0": "?"}},
            "resps": [["1"]],
            "filtered_resps": ["1"],
            "filter": name,
            "metrics": ["exact_match", *metrics],
            "doc_hash": f"d{number}",
            "prompt_hash": "p",
            "target_hash": "t",
            "exact_match": value,
            **metrics,
        }
        for name, own in zip(filters, scores, strict=True)
        for number, value in enumerate(own)
    ]


def write_lines(path, lines):
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def promptfoo_results(passed, providers=("openai:gpt-4o",), repeat=1, **changes):
    """Tests by whether each provider passes them: ``passed[provider][i]`` is that of test i."""
    tests = [(number, again) for number in range(len(passed[0])) for again in range(repeat)]
    return [
        {
            "promptIdx": prompt,
            "testIdx": index,
            "promptId": "abc",
            "provider": {"id": provider, "label": ""},
            "prompt": {"raw": "Translate: hello", "label": "Translate: {{input}}"},
            "vars": {"input": f"hello {number}", "language": "French", "_conversation": [index]},
            "testCase": {"vars": {"input": f"hello {number}"}, "assert": [{"type": "contains"}]},
            "response": {"output": "bonjour"},
            "success": own[number],
            "failureReason": 0 if own[number] else 1,
            "score": float(own[number]),
            "namedScores": {"tone": 0.25},
            **changes,
        }
        for index, (number, _) in reversed([*enumerate(tests)])
        for prompt, (provider, own) in enumerate(zip(providers, passed, strict=True))
    ]


def write_promptfoo(path, results):
    whole = {
        "evalId": "eval-1",
        "results": {"version": 3, "prompts": [], "results": results, "stats": {}},
        "config": {},
    }
    path.write_text(json.dumps(whole))
    return path
