"""Elastic bodies: beam elements and imported matrices in body axes, condensed once to their connected nodes."""
