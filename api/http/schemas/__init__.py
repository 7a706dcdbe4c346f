"""The schemas of answers, for OpenAPI.  Routes build plain JSON; tests compare both."""
