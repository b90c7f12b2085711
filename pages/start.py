"""The address of the app without a page: goes to the Overview and keeps the parameters."""

import streamlit as st

st.switch_page("pages/overview.py", query_params=st.query_params.to_dict())
