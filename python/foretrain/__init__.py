"""foretrain: records a PyTorch model for the simulator, and asks the simulator from Python."""
from .version import VERSION as __version__
