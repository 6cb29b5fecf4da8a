"""Elastic bodies: beam elements and imported matrices in body axes, condensed once to the nodes that are touched."""
