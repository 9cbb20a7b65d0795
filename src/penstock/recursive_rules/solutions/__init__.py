"""Solution rows of the rule network, and the expressions that are evaluated on them."""
