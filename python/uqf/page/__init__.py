"""What all pages share: one file without any request to the outside, figures, and labels that cannot overlap."""
