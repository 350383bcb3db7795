"""A team's files: pipelines and campaigns as frozen values, and every finding with its place."""
