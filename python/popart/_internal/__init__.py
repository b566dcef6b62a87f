"""What programs find that look into a PopXL program: `popart._internal.ir`."""
