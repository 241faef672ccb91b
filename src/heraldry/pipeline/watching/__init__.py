"""Who watches a job: metrics, logs and lineage while it runs, the status of what is stored."""
