"""The way of a version until it plays: receiving, building, checking, qualifying."""
