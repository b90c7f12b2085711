"""A binomial model of hits with errors clustered by family: the global tax."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bootstrap import Codes, Floats

_CERTAIN = 1e-8
"""A fitted probability this close to 0 or 1 has run away: the data are separated."""


class OddsRatio(NamedTuple):
    """Odds that an answer in the query's language is found over the odds that one in another is."""

    value: float | None  # above 1: the own language is found more often; None where the reason says why
    low: float | None
    high: float | None
    n: int  # answers in the model
    left_out: tuple[int, ...]  # codes of the query languages in which all or no answers are found: they say nothing
    reason: str | None


def odds_ratio(hit: Codes, *, same: Codes, language: Codes, family: Codes, level: float = 0.95) -> OddsRatio:
    """Odds ratio of a hit, same against cross, from ``hit ~ route type + query language``, one row an answer.

    A query language in which every answer or none is found leaves the model: its own coefficient is infinite and takes
    all that its rows could say, so the odds ratio is the same without it.

    Args:
        hit: ``(N,)`` whether the answer was found.
        same: ``(N,)`` whether it is in the query's language.
        language: ``(N,)`` codes of the query languages.
        family: ``(N,)`` codes of the families: errors are clustered by them.
        level: of the interval, which is Wald's on the log odds.

    Returns:
        The ratio, or the reason in words why there is none.

    Source:
        Liang & Zeger (1986), Biometrika 73(1); statsmodels GLM with ``cov_type="cluster"``.
    """
    found, own = np.asarray(hit, dtype=np.float64), np.asarray(same, dtype=bool)
    telling = [code for code in np.unique(language) if 0 < found[language == code].mean() < 1]
    left_out = tuple(int(code) for code in np.unique(language) if code not in telling)
    keep = np.isin(language, telling)
    found, own, spoken, cluster = found[keep], own[keep], language[keep], family[keep]
    first, hits, misses = _alike(found, np.stack([cluster, spoken, own]))
    columns = [np.ones(len(first)), own[first], *(spoken[first] == code for code in telling[1:])]
    design = np.column_stack(columns).astype(np.float64)
    reason = _hopeless(found, own, design, cluster)
    fit = None if reason else _fitted(np.column_stack([hits, misses]), design, cluster[first])
    if fit is None:
        return OddsRatio(
            None, None, None, len(found), left_out, reason or "the model does not converge, or the data are separated"
        )
    # The correction for few clusters that statsmodels makes, by the number of answers instead of kinds of them.
    clusters, known = len(np.unique(cluster)), design.shape[1]
    correction = np.sqrt(clusters / (clusters - 1) * (len(found) - 1) / (len(found) - known))
    middle, (low, high) = fit.params[1], fit.conf_int(1 - level)[1]
    low, high = np.exp([middle + correction * (end - middle) for end in (low, high)])
    return OddsRatio(float(np.exp(middle)), float(low), float(high), len(found), left_out, None)


def _alike(found: Floats, traits: NDArray[Any]) -> tuple[NDArray[np.intp], Floats, Floats]:
    """One row of each kind of answers that share all traits ``(T, N)``, and how many of the kind are found and not.

    A model of counts is the model of the single answers, from a fraction of the rows.
    """
    _, first, kind = np.unique(traits, axis=1, return_index=True, return_inverse=True)
    both = np.bincount(kind.ravel(), minlength=len(first)).astype(np.float64)
    hits = np.bincount(kind.ravel(), weights=found, minlength=len(first)).astype(np.float64)
    return first, hits, both - hits


def _hopeless(found: Floats, own: NDArray[np.bool_], design: Floats, cluster: Codes) -> str | None:
    """Why no finite odds ratio can come of these rows; None where one may."""
    if not len(found):
        return "all answers are found, or none is, in every query language"
    if own.all() or not own.any():
        return "the answers are all of one route type: same and cross are both needed"
    if len(np.unique(cluster)) < 2:
        return "the answers are all of one family: errors cannot be clustered"
    for rows, where in ((own, "in the query's own language"), (~own, "in another language")):
        if found[rows].mean() in (0, 1):
            return f"{'every' if found[rows].all() else 'no'} answer {where} is found: the odds ratio is not finite"
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return "route type and query language go together: their effects cannot be told apart"
    return None


def _fitted(counts: Floats, design: Floats, cluster: Codes) -> Any:
    """The model fitted to hits and misses ``(K, 2)``; None where it does not converge or the data are separated."""
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they warn of is checked below
        fit = GLM(counts, design, family=Binomial()).fit(
            cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False}
        )
    doubt = np.minimum(fit.mu, 1 - fit.mu)
    return fit if fit.converged and doubt.min() > _CERTAIN and np.isfinite(fit.bse).all() else None
