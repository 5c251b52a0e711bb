# Three images: `server` (every role, with R), `database` (TimescaleDB) and `redis`. See src/container/README.md.
# The base can be any Debian 13 image; where no registry is reachable, mmdebstrap can make one.
ARG BASE_IMAGE=debian:trixie-slim
# PostgreSQL 17 with the Community edition of TimescaleDB; `debian-database` is the stage below, with Debian's Apache edition.
ARG DATABASE_IMAGE=timescale/timescaledb:2.19.3-pg17

FROM ${BASE_IMAGE} AS base
ENV LANG=C.UTF-8 TZ=UTC DEBIAN_FRONTEND=noninteractive
# Each image has a user id of its own, so that a process that escapes one container owns no files of another.

# Production npm packages, including the pinned Node. Debian's Node only runs npm.
FROM base AS node-modules
RUN apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends npm && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Behind a proxy with its own certificate authority, pass its bundle: `--secret id=ca_bundle,src=FILE`.
RUN --mount=type=secret,id=ca_bundle \
    if [ -f /run/secrets/ca_bundle ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca_bundle; fi; \
    npm ci --omit=dev --no-fund --no-audit && npm cache clean --force && node_modules/.bin/node --version

# The console for browsers. The development packages that build it stay in this stage.
FROM node-modules AS console
COPY src/console src/console
RUN --mount=type=secret,id=ca_bundle \
    if [ -f /run/secrets/ca_bundle ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca_bundle; fi; \
    npm ci --no-fund --no-audit && npm cache clean --force \
    && node_modules/.bin/node node_modules/vite/bin/vite.js build src/console --outDir /console

# The root file system that scripts see: R, its packages and r-runtime, nothing of the application.
FROM base AS r-root
# extra-packages.txt is an operator's own list. The pattern .tx[t] allows the file to be absent.
COPY r-runtime/packages.txt r-runtime/build-packages.txt r-runtime/extra-packages.tx[t] /r-runtime/
RUN apt-get update --quiet \
    && sed 's/#.*//' /r-runtime/*packages.txt \
    | xargs apt-get install --quiet --yes --no-install-recommends && rm -rf /var/lib/apt/lists/*
COPY r-runtime /r-runtime
RUN sh /r-runtime/build.sh / && rm -rf /r-runtime /usr/share/doc /usr/share/man /usr/share/info /var/cache /var/log \
    /var/lib/apt /tmp/* /root/* && chmod 755 /

FROM base AS server
# postgresql-client-17 has the programs of `admin backup`. The volume /backups belongs to the user of the database.
RUN apt-get update --quiet \
    && apt-get install --quiet --yes --no-install-recommends bubblewrap libstdc++6 postgresql-client-17 \
    && rm -rf /var/lib/apt/lists/* && install --directory --owner=26001 --group=26001 --mode=700 /backups
COPY --from=r-root / /srv/r-root
WORKDIR /app
COPY --from=node-modules /app/node_modules node_modules
COPY package.json ./
COPY proto proto
COPY sql sql
COPY r-runtime r-runtime
COPY src src
COPY --from=console /console /srv/console
ENV PATH=/app/node_modules/.bin:/usr/lib/postgresql/17/bin:$PATH NODE_ENV=production R_ROOT=/srv/r-root CONSOLE_DIRECTORY=/srv/console \
    HTTP_HOST=0.0.0.0 HTTP_PORT=8080 GRPC_HOST=0.0.0.0 GRPC_PORT=50051 HEALTH_PORT=8081
USER 26000:26000
EXPOSE 8080 50051
# Arguments: one or more of api, grpc, ingester, calculator, deliverer; or migrate; or admin with a command.
ENTRYPOINT ["node", "src/main.ts"]

FROM base AS debian-database
# The package must not create a cluster: the entry point creates one in the volume.
COPY src/container/database-packages.txt /tmp/packages.txt
RUN apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends postgresql-common \
    && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf \
    && sed 's/#.*//; /^redis/d' /tmp/packages.txt | xargs apt-get install --quiet --yes --no-install-recommends \
    && rm -rf /var/lib/apt/lists/*
ENV PATH=/usr/lib/postgresql/17/bin:$PATH

FROM ${DATABASE_IMAGE} AS database
# Uses only commands that both Debian and Alpine have: the official image is built on Alpine. initdb needs a user with a name.
RUN echo 'tidemark:x:26001:26001::/nonexistent:/sbin/nologin' >> /etc/passwd && echo 'tidemark:x:26001:' >> /etc/group \
    && install -d -o 26001 -g 26001 -m 700 /data
COPY src/container/database-entrypoint.sh src/container/database.conf /usr/local/lib/tidemark/
VOLUME /data
USER 26001:26001
EXPOSE 5432
STOPSIGNAL SIGINT
ENTRYPOINT ["/bin/sh", "/usr/local/lib/tidemark/database-entrypoint.sh"]
# Drops the default command of the official image.
CMD []

FROM base AS redis
RUN apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends redis-server \
    && rm -rf /var/lib/apt/lists/* && install --directory --owner=26003 --group=26003 --mode=700 /data
COPY src/container/redis-entrypoint.sh /usr/local/lib/tidemark/
VOLUME /data
USER 26003:26003
EXPOSE 6379
ENTRYPOINT ["/bin/sh", "/usr/local/lib/tidemark/redis-entrypoint.sh"]
