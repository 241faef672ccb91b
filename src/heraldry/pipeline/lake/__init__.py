"""What a warehouse is made of: storage, Delta tables, their columns, and the ledger of a job."""
