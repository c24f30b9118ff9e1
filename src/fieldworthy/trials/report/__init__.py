"""Reports of campaigns, sweeps and the demo: one self-contained HTML file each, from the run folder alone."""

from fieldworthy.trials.report.campaign import write_report
from fieldworthy.trials.report.demo import DemoRow, write_demo_report
from fieldworthy.trials.report.sweep import write_sweep_report

__all__ = ["DemoRow", "write_demo_report", "write_report", "write_sweep_report"]
