"""From the values of a catalogue file to the options and parameters of a sensor law.

An effect whose value is 0 or missing is off and costs nothing; a value that differs between trials is on. Values come
in the units of data sheets (deg/s, deg/h, micro-g), parameters are SI.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fieldworthy.core.constants import STANDARD_GRAVITY_M_S2
from fieldworthy.core.lanes import Scalar
from fieldworthy.core.vec import Mat3, Quat, Vec3, quat_from_euler_zyx, quat_identity
from fieldworthy.sensors.airspeed import AirspeedOptions, AirspeedParameters
from fieldworthy.sensors.barometer import BarometerOptions, BarometerParameters
from fieldworthy.sensors.gnss import GnssOptions, GnssParameters
from fieldworthy.sensors.imu import ImuOptions, ImuParameters
from fieldworthy.sensors.inertial_triad import TriadOptions, TriadParameters
from fieldworthy.sensors.magnetometer import MagnetometerOptions, MagnetometerParameters
from fieldworthy.sensors.noise_process import DECADES_S
from fieldworthy.sensors.odometry import OdometryOptions, OdometryParameters
from fieldworthy.sensors.optical_flow import OpticalFlowOptions, OpticalFlowParameters
from fieldworthy.sensors.rangefinder import RangefinderOptions, RangefinderParameters

_DEG = math.pi / 180.0
_G = STANDARD_GRAVITY_M_S2
_HIGHEST_BANDWIDTH = 0.45
"""Share of the sample rate above which a low-pass passes all that samples can show: left out."""

Values = Mapping[str, Any]


def is_on(value: Scalar) -> bool:
    """Whether an effect of this size has to be computed: anything but a plain 0."""
    return not (isinstance(value, int | float) and value == 0.0)


def imu_device(values: Values, dt_s: float) -> tuple[ImuOptions, ImuParameters]:
    """Options and parameters of an inertial unit read every `dt_s`."""
    gyro = _triad(values, "gyro", {"deg_s": _DEG, "deg_h": _DEG / 3600.0}, ("deg_s", "deg_h", "deg_s"), dt_s)
    units = {"ug": 1e-6 * _G, "mg": 1e-3 * _G, "g": _G}
    accelerometer = _triad(values, "accelerometer", units, ("ug", "ug", "mg"), dt_s)
    arm, mounting = _arm(values), _mounting(values)
    sensitivity = values.get("g_sensitivity_deg_s_g", 0.0) * (_DEG / _G)
    rectification = values.get("rectification_ug_g2", 0.0) * (1e-6 / _G)
    options = ImuOptions(
        dt_s,
        gyro[0],
        accelerometer[0],
        lever_arm=_any(*arm),
        mounting=mounting is not None,
        vibration=bool(values.get("vibration", 1.0)),
        rectification=is_on(rectification),
        g_sensitivity=is_on(sensitivity),
    )
    heating = values.get("self_heating_k", 0.0)
    turned = mounting or quat_identity()
    return options, ImuParameters(gyro[1], accelerometer[1], arm, turned, sensitivity, rectification, heating)


def _triad(
    values: Values, name: str, units: Mapping[str, float], unit: tuple[str, str, str], dt_s: float
) -> tuple[TriadOptions, TriadParameters]:
    """`unit`: of noise and walk, of the instability, of the turn-on bias and temperature."""

    def get(key: str, of: str, after: str = "") -> Scalar:
        return values.get(f"{name}_{key}_{of}{after}", 0.0) * units[of]

    noise, instability, bias = unit
    widest = "deg_s" if "deg_s" in units else "g"
    finest = "deg_s" if "deg_s" in units else "mg"
    p = TriadParameters(
        noise_density_q_rthz=get("noise_density", noise, "_rthz"),
        walk_q_rts=get("walk", noise, "_rts"),
        instability_q=get("instability", instability),
        turn_on_sigma_q=get("turn_on", bias),
        scale_sigma=values.get(f"{name}_scale_sigma", 0.0),
        misalignment_sigma_rad=values.get(f"{name}_misalignment_deg", 0.0) * _DEG,
        temperature_q_k=get("temperature", bias, "_k"),
        bandwidth_hz=values.get(f"{name}_bandwidth_hz", 0.0),
        range_q=get("range", widest),
        resolution_q=get("resolution", finest),
    )
    bandwidth = p.bandwidth_hz
    too_wide = isinstance(bandwidth, int | float) and bandwidth * dt_s >= _HIGHEST_BANDWIDTH
    options = TriadOptions(
        noise=is_on(p.noise_density_q_rthz),
        walk=is_on(p.walk_q_rts),
        instability_taus_s=DECADES_S if is_on(p.instability_q) else (),
        turn_on=is_on(p.turn_on_sigma_q),
        scale=is_on(p.scale_sigma),
        misalignment=is_on(p.misalignment_sigma_rad),
        temperature=is_on(p.temperature_q_k),
        low_pass=is_on(bandwidth) and not too_wide,
        saturation=is_on(p.range_q),
        quantisation=is_on(p.resolution_q),
    )
    return options, p


def gnss_device(values: Values, dt_s: float) -> tuple[GnssOptions, GnssParameters]:
    """Options and parameters of a receiver."""
    p = GnssParameters(pos_frd_m=_arm(values))
    _fill(p, values)
    options = GnssOptions(
        dt_s,
        correlated=_any(p.horizontal_sigma_m, p.vertical_sigma_m),
        white=_any(p.white_horizontal_sigma_m, p.white_vertical_sigma_m),
        multipath=_any(values.get("multipath_sigma_m", 0.0)),
        velocity_noise=_any(p.velocity_horizontal_sigma_m_s, p.velocity_vertical_sigma_m_s),
        rtk=_any(values.get("fixed_sigma_m", 0.0)),
        outage="outage_start_s" in values,
        lever_arm=_any(*p.pos_frd_m),
    )
    return options, p


def barometer_device(values: Values, dt_s: float) -> tuple[BarometerOptions, BarometerParameters]:
    """Options and parameters of a barometer."""
    p = BarometerParameters(
        forward_coefficients=_vec(values, "forward_coefficients"),
        backward_coefficients=_vec(values, "backward_coefficients"),
    )
    _fill(p, values)
    options = BarometerOptions(
        dt_s,
        white=is_on(p.noise_pa),
        drift=_any(values.get("drift_sigma_pa", 0.0)),
        offset=_any(values.get("offset_sigma_pa", 0.0)),
        position_error=_any(*p.forward_coefficients, *p.backward_coefficients),
        wash=_any(values.get("wash_coefficient", 0.0)),
        warm_up=_any(values.get("temperature_pa_k", 0.0)),
        quantisation=_any(values.get("resolution_pa", 0.0)),
    )
    return options, p


def magnetometer_device(
    values: Values, dt_s: float, field_ned_t: Vec3
) -> tuple[MagnetometerOptions, MagnetometerParameters]:
    """Options and parameters of a magnetometer in the Earth's field of a place."""
    soft = values.get("soft_iron", [])
    motor, hard, mounting = _vec(values, "motor_frd_ut_a"), _vec(values, "hard_iron_frd_ut"), _mounting(values)
    p = MagnetometerParameters(
        field_ned_t,
        noise_t=values.get("noise_ut", 0.0) * 1e-6,
        hard_iron_frd_t=hard * 1e-6,
        hard_iron_sigma_t=values.get("hard_iron_sigma_ut", 0.0) * 1e-6,
        motor_frd_t_a=motor * 1e-6,
        quat_frd_from_sensor=mounting or quat_identity(),
        range_t=values.get("range_ut", 0.0) * 1e-6,
        resolution_t=values.get("resolution_ut", 0.0) * 1e-6,
    )
    if soft:
        p.soft_iron = Mat3(*(element for row in soft for element in row))
    options = MagnetometerOptions(
        dt_s,
        white=is_on(p.noise_t),
        hard_iron=_any(*hard, p.hard_iron_sigma_t),
        soft_iron=bool(soft),
        motor_current=_any(*motor),
        mounting=mounting is not None,
        saturation=is_on(p.range_t),
        quantisation=is_on(p.resolution_t),
    )
    return options, p


def airspeed_device(values: Values, dt_s: float) -> tuple[AirspeedOptions, AirspeedParameters]:
    """Options and parameters of a pitot tube with its sensor."""
    p = AirspeedParameters(pos_frd_m=_arm(values))
    if "axis_frd" in values:
        p.axis_frd = _vec(values, "axis_frd")
    _fill(p, values)
    options = AirspeedOptions(
        dt_s,
        white=is_on(p.noise_pa),
        offset=is_on(p.offset_sigma_pa),
        temperature=is_on(p.temperature_pa_k),
        compressible=bool(values.get("compressible", 0.0)),
        lag=_any(values.get("lag_s", 0.0)),
        lever_arm=_any(*p.pos_frd_m),
        saturation=_any(values.get("range_pa", 0.0)),
        quantisation=_any(values.get("resolution_pa", 0.0)),
    )
    return options, p


def rangefinder_device(values: Values, dt_s: float) -> tuple[RangefinderOptions, RangefinderParameters]:
    """Options and parameters of a range finder."""
    p = RangefinderParameters(pos_frd_m=_arm(values))
    if "axis_frd" in values:
        p.axis_frd = _vec(values, "axis_frd")
    _fill(p, values)
    white, quantisation = _any(p.noise_m, p.noise_per_range), _any(values.get("resolution_m", 0.0))
    return RangefinderOptions(dt_s, white, is_on(p.dropout), _any(*p.pos_frd_m), quantisation), p


def optical_flow_device(values: Values, dt_s: float) -> tuple[OpticalFlowOptions, OpticalFlowParameters]:
    """Options and parameters of an optical flow camera; a part has what its file has values for."""
    p = OpticalFlowParameters(
        pos_frd_m=_arm(values),
        gyro_noise_rad_s_rthz=values.get("gyro_noise_density_deg_s_rthz", 0.0) * _DEG,
        gyro_turn_on_rad_s=values.get("gyro_turn_on_deg_s", 0.0) * _DEG,
    )
    _fill(p, values)
    options = OpticalFlowOptions(
        dt_s,
        white=_any(p.noise_rad_s, values.get("poor_noise_rad_s", 0.0)),
        poor=_any(values.get("poor_noise_rad_s", 0.0)),
        saturation=_any(values.get("rate_max_rad_s", 0.0)),
        fade=is_on(p.fade),
        lever_arm=_any(*p.pos_frd_m),
        quantisation=_any(values.get("resolution_rad", 0.0)),
        gyro="gyro_noise_density_deg_s_rthz" in values,
        gyro_noise=is_on(p.gyro_noise_rad_s_rthz),
        gyro_bias=is_on(p.gyro_turn_on_rad_s),
        distance="distance_max_m" in values,
        distance_noise=is_on(p.distance_noise_m),
    )
    return options, p


def odometry_device(values: Values, dt_s: float) -> tuple[OdometryOptions, OdometryParameters]:
    """Options and parameters of visual-inertial odometry or motion capture."""
    p = OdometryParameters(
        tilt_noise_rad=values.get("tilt_noise_deg", 0.0) * _DEG,
        heading_noise_rad=values.get("heading_noise_deg", 0.0) * _DEG,
        heading_drift_rad_rts=values.get("heading_drift_deg_rts", 0.0) * _DEG,
        pos_frd_m=_arm(values),
    )
    _fill(p, values)
    options = OdometryOptions(
        dt_s,
        white=_any(p.noise_horizontal_m, p.noise_vertical_m),
        velocity_noise=is_on(p.velocity_noise_m_s),
        attitude_noise=_any(p.tilt_noise_rad, p.heading_noise_rad),
        drift=is_on(p.drift_m_rts),
        travel_drift=is_on(p.drift_m_rtm),
        heading_drift=is_on(p.heading_drift_rad_rts),
        lever_arm=_any(*p.pos_frd_m),
    )
    return options, p


def _fill(p: Any, values: Values) -> None:
    """Set the numbers of the same name."""
    for name, default in vars(p).items():
        if name in values and not isinstance(default, Vec3):
            setattr(p, name, values[name])


def _any(*sizes: Scalar) -> bool:
    return any(is_on(size) for size in sizes)


def _vec(values: Values, name: str) -> Vec3:
    return Vec3(*values.get(name, (0.0, 0.0, 0.0)))


def _arm(values: Values) -> Vec3:
    return _vec(values, "pos_frd_m")


def _mounting(values: Values) -> Quat | None:
    """How the sensor is turned in the body: `mounting_deg` is its yaw, pitch, roll."""
    if "mounting_deg" not in values:
        return None
    yaw, pitch, roll = (angle * _DEG for angle in values["mounting_deg"])
    return quat_from_euler_zyx(roll, pitch, yaw)
