"""Pure functions on arrays: divergences, their inverses and derivatives.

A module per subject: Bernoullis (:mod:`~certivote.maths.binary_kl`), binomial and beta tails, bets on the mean of
losses between 0 and 1 (:mod:`~certivote.maths.betting`), the distributions that a posterior is chosen from (Dirichlet,
Gaussian, categorical), the price of a level that depends on the draw (:mod:`~certivote.maths.occam`), and what a bound
becomes in other populations (:mod:`~certivote.maths.shift`). What a bound pays or starts from is rounded so that the
bound can only grow. Nothing here knows of votes, data or certificates.
"""
