"""One module per dataset: the entry (``ENTRY``), its reader (``read``) and the declared ranges (``RANGES``) together.

A reader takes the folder of the files and returns all published parts of the dataset together, in upstream order.
Letters become codes, in the order of the documented alphabet and not in that of the letters that occur, so that a code
means the same in every sample.

The datasets for stumps declare the range of each feature, known before any row is seen. Thresholds between the smallest
and the largest value of the sample would depend on the rows they are certified on, and void the certificate. The ranges
come from the documentation of the attributes, from the encoding, or from what the measured quantity can be. Where
upstream documents nothing they are round numbers, and the docstring below ``RANGES`` says so. Such round numbers were
chosen for the scale of the printed values, which is known from the files: there, independence of the sample is an
assumption. A value outside its range is not an error: no stump splits there.
"""
