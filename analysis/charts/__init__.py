"""From a frozen answer to a Plotly figure."""
