"""The page in the browser: what it is given. The page itself is TypeScript, in viewer/ at the root."""
