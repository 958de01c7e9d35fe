# The browser app's checks: types, lint, unit tests.
FROM node:20-trixie-slim
WORKDIR /ui
COPY services/gateway/ui/package.json services/gateway/ui/package-lock.json services/gateway/ui/.npmrc ./
RUN --mount=type=secret,id=build_ca,target=/run/build-ca.pem \
    if [ -s /run/build-ca.pem ]; then export NODE_EXTRA_CA_CERTS=/run/build-ca.pem npm_config_cafile=/run/build-ca.pem; fi; npm ci
COPY services/gateway/ui/ ./
CMD ["npm", "run", "check"]
