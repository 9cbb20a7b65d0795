"""Views that several evaluations or queries share: static views, family views, common sub-plans, stream scans."""
