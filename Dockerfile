# A league in a container: `docker build -t arena .`, then `docker run -v league:/league arena league init /league …`.
# Untried: it was written where there is no Docker. docs/safety.md says what sandboxes need of a container.
FROM python:3.13-slim AS build
COPY . /src
RUN python -m venv /arena && /arena/bin/pip install --no-cache-dir /src

FROM python:3.13-slim
COPY --from=build /arena /arena
RUN useradd --create-home --uid 1000 league && mkdir /league && chown league /league
USER league
WORKDIR /league
VOLUME /league
ENV PATH=/arena/bin:$PATH
ENTRYPOINT ["arena"]
CMD ["--help"]
