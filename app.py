"""What Streamlit starts: the router, behind what puts the style into the page before anything else is there."""

import streamlit as st
from starlette.middleware import Middleware

from pages.shared.first_paint import FirstPaint

app = st.App("router.py", middleware=[Middleware(FirstPaint)])
