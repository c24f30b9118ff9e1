"""Robot arms: chains of joints, inverse kinematics, whole paths, programs of real controllers, playback."""
