"""What runs now in a league."""
