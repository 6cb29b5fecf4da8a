"""Drawing that several questions share, movies, the page in the browser, and reports."""
