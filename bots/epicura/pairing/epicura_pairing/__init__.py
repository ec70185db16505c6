"""Bluetooth for bots/epicura: JSON lines on standard input and output, BlueZ over D-Bus."""
