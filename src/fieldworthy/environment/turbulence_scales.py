"""How strong turbulence is, and how long its eddies are, at a height: two military specifications, three layers of air.

Below 1,000 ft both follow the height and the wind at 20 ft, above 2,000 ft the air is isotropic with lengths of its
own, and in between they are interpolated in height. MIL-HDBK-1797 calls half of what MIL-F-8785C calls the lateral and
vertical length, and writes 2 L in its spectra, so both give the same air; lengths of one in the spectra of the other
make the eddies pass twice too fast or too slow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fieldworthy.core.lanes import Scalar, clip, exp, log, maximum
from fieldworthy.core.table import interpolate, weights

FOOT_M = 0.3048
LOW_CEILING_M, HIGH_FLOOR_M = 1000.0 * FOOT_M, 2000.0 * FOOT_M
LOWEST_M = 10.0 * FOOT_M
"""The low-altitude law is not defined below; lower heights get its values here."""

Model = Literal["none", "dryden", "von-karman"]
Specification = Literal["mil-f-8785c", "mil-hdbk-1797"]
Severity = Literal["given", "light", "moderate", "severe"]

HIGH_LENGTH_M = {"dryden": 1750.0 * FOOT_M, "von-karman": 2500.0 * FOOT_M}
"""The longitudinal length above 2,000 ft, same in both specifications."""

EXCEEDANCE_HEIGHTS_FT = (500.0, 1750.0, 3750.0, 7500.0, 15000.0, 25000.0, 35000.0, 45000.0, 55000.0, 65000.0)
EXCEEDANCE_SIGMA_FT_S = {
    "light": (6.6, 6.9, 7.4, 6.7, 4.6, 2.7, 0.4, 0.0, 0.0, 0.0),
    "moderate": (8.6, 9.6, 10.6, 10.1, 8.0, 6.6, 5.0, 4.2, 2.7, 0.0),
    "severe": (15.6, 17.6, 23.0, 23.6, 22.1, 20.0, 16.0, 15.1, 12.1, 7.9),
}
"""Turbulence that is exceeded with probability 1e-2, 1e-3 and 1e-5: MIL-F-8785C figure 7, read off as JSBSim does."""


@dataclass(slots=True)
class Scales:
    """Root mean square speeds and eddy lengths along the gust axes, as the specification names them."""

    sigma_u_m_s: Scalar
    sigma_v_m_s: Scalar
    sigma_w_m_s: Scalar
    length_u_m: Scalar
    length_v_m: Scalar
    length_w_m: Scalar


def scales(
    model: Model,
    specification: Specification,
    severity: Severity,
    height_m: Scalar,
    wind_20ft_m_s: Scalar,
    high_sigma_m_s: Scalar,
) -> Scales:
    """Intensities and lengths of Dryden or von Karman turbulence at a height above ground.

    Equation: with h in feet, below 1,000 ft  L_w = h, L_u = L_v = h / (0.177 + 0.000823 h)^1.2, sigma_w = 0.1 W20,
        sigma_u = sigma_v = sigma_w / (0.177 + 0.000823 h)^0.4;  above 2,000 ft one sigma and 1,750 ft (Dryden) or
        2,500 ft (von Karman) for all three axes. MIL-HDBK-1797 halves L_v and L_w.
    Source: MIL-F-8785C (1980) section 3.7; MIL-HDBK-1797 (1997) section 4.9 of appendix A.
    Shapes: scalars.
    Limits: height held at 10 ft below 10 ft; sigma above 2,000 ft is given, or from the exceedance curves up to
        65,000 ft.
    Verified by: tests/verification/test_turbulence_scales.py
    """
    feet = clip(height_m, LOWEST_M, LOW_CEILING_M) * (1.0 / FOOT_M)
    growth = log(0.177 + 0.000823 * feet)
    low_sigma_w = 0.1 * wind_20ft_m_s
    low_sigma_u = low_sigma_w * exp(-0.4 * growth)
    low_length_w = feet * FOOT_M
    low_length_u = low_length_w * exp(-1.2 * growth)

    share = clip((height_m - LOW_CEILING_M) * (1.0 / (HIGH_FLOOR_M - LOW_CEILING_M)), 0.0, 1.0)
    high_sigma = high_sigma_m_s if severity == "given" else exceedance_sigma_m_s(severity, height_m)
    high_length = HIGH_LENGTH_M[model]

    sigma_u = low_sigma_u + (high_sigma - low_sigma_u) * share
    sigma_w = low_sigma_w + (high_sigma - low_sigma_w) * share
    length_u = low_length_u + (high_length - low_length_u) * share
    length_w = low_length_w + (high_length - low_length_w) * share
    half = 0.5 if specification == "mil-hdbk-1797" else 1.0
    return Scales(sigma_u, sigma_u, sigma_w, length_u, length_u * half, length_w * half)


def exceedance_sigma_m_s(severity: Severity, height_m: Scalar) -> Scalar:
    """Root mean square speed of turbulence of a severity at a height, piecewise linear between the published points.

    Source: MIL-F-8785C figure 7 (light 1e-2, moderate 1e-3, severe 1e-5 probability of exceedance).
    Limits: the curves start above 500 ft and are held outside of 500 to 65,000 ft.
    """
    axis = weights(EXCEEDANCE_HEIGHTS_FT, height_m * (1.0 / FOOT_M))
    return interpolate(axis, EXCEEDANCE_SIGMA_FT_S[severity]) * FOOT_M


def eddy_time_s(specification: Specification, length_m: Scalar, convection_m_s: Scalar, *, lateral: bool) -> Scalar:
    """The time constant in the spectrum of one axis: L / V, or 2 L / V across the gust by MIL-HDBK-1797.

    Limits: the convection speed is held above 1 mm/s, so that air that stands still is air that never changes.
    """
    factor = 2.0 if lateral and specification == "mil-hdbk-1797" else 1.0
    return factor * length_m / maximum(convection_m_s, 1e-3)
