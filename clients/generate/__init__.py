"""Makes the clients from the server's description, `clients/openapi.json`."""
