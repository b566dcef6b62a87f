# Pando on Debian 12: `docker build -t pando .`, then `docker run --rm -it pando pando repl --tiles 16`. The first stage compiles; what it leaves to the second
# is one Debian package, which brings what it needs.
# Debian's packages stay at versions that work together: none is pinned.
FROM debian:12 AS build
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/*
COPY . /pando
WORKDIR /pando
RUN ./x deb

FROM debian:12
COPY --from=build /pando/build/packages/ /packages/
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends g++ /packages/pando_*.deb && rm -rf /packages /var/lib/apt/lists/*
ENV PATH=/opt/pando/bin:$PATH CPATH=/opt/pando/include LIBRARY_PATH=/opt/pando/lib LD_LIBRARY_PATH=/opt/pando/lib \
    CMAKE_PREFIX_PATH=/opt/pando POPLAR_SDK_ENABLED=/opt/pando
CMD ["pando", "--help"]
