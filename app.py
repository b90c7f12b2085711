"""The router: which pages there are. The server, which reads this file first, gets the app with its style."""

import streamlit as st

if __name__ == "__main__":  # a page is asked for
    st.navigation(
        [
            st.Page("pages/start.py", title="Babelscope", default=True, visibility="hidden"),
            st.Page("pages/overview.py", title="Overview", url_path="overview"),
            st.Page("pages/routes.py", title="Language routes", url_path="routes"),
            st.Page("pages/tiers.py", title="Difficulty tiers", url_path="tiers"),
            st.Page("pages/recoverability.py", title="Recoverability", url_path="recoverability"),
            st.Page("pages/fairness.py", title="Fairness", url_path="fairness"),
            st.Page("pages/significance.py", title="Significance", url_path="significance"),
            st.Page("pages/queries.py", title="Query explorer", url_path="queries"),
            st.Page("pages/map.py", title="Embedding map", url_path="map"),
            st.Page("pages/causes.py", title="Why it fails", url_path="causes"),
            st.Page("pages/probe.py", title="Live probe", url_path="probe"),
            st.Page("pages/story.py", title="Clinician demo", url_path="story"),
            st.Page("pages/data.py", title="Data and runs", url_path="data"),
            st.Page("pages/method.py", title="Method", url_path="method"),
        ],
        position="hidden",
    ).run()
else:  # the server is put together
    from starlette.middleware import Middleware

    from pages.shared.first_paint import FirstPaint

    app = st.App(__file__, middleware=[Middleware(FirstPaint)])
