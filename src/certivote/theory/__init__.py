"""The paper's mathematics as it is used: bounds, risks, and the parts that a method consists of.

Here live a function per theorem (:mod:`~certivote.theory.bounds`, with the general theorems behind them in
:mod:`~certivote.theory.general_bounds`), the losses and the smooth risks that training minimises
(:mod:`~certivote.theory.risks`), and the four parts of a method: families of distributions
(:mod:`~certivote.theory.families`), predictors (:mod:`~certivote.theory.predictors`), risks and theorems
(:mod:`~certivote.theory.theorems`), put together as rows of one table (:mod:`~certivote.theory.methods`), which the
calculator reads too (:mod:`~certivote.theory.calculator`). Theory sees votes and labels as arrays; it knows nothing of
datasets, splits, voters, files or records.
"""
