"""Made from the description of the server. Do not edit."""
