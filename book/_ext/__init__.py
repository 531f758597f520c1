"""What turns the book's pages into a site that needs nobody else's server."""
