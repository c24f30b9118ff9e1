"""Recordings of one trial: MCAP for robot tools (Foxglove, PlotJuggler, rosbag2) and CSV for everything else."""

from fieldworthy.trials.record.csv_file import write_csv
from fieldworthy.trials.record.flight import Flight
from fieldworthy.trials.record.mcap_file import write_mcap
from fieldworthy.trials.record.recording import Cloud, Recording

__all__ = ["Cloud", "Flight", "Recording", "write_csv", "write_mcap"]
