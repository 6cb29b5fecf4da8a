"""Data of the page in the browser. The page itself is TypeScript, in viewer/ at the root of the repository."""
