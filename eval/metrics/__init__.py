"""What is measured of an answer: comparison of results (EX, BIRD's set), exact match, intervals and paired tests."""
