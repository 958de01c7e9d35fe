import { defineConfig } from "vitest/config";

// The first versions with `light-dark()`, on which both colour schemes stand.
const BROWSERS = ["chrome123", "firefox120", "safari17.5"];

export default defineConfig({
  build: {
    target: BROWSERS,
    cssTarget: BROWSERS,
    // The preload polyfill would be an inline script, which the page's policy refuses.
    modulePreload: { polyfill: false },
    // Nothing may become a data: address either.
    assetsInlineLimit: 0,
    sourcemap: false,
  },
  server: {
    host: "127.0.0.1",
    port: 5173,
    strictPort: true,
    proxy: {
      "/api": {
        target: "http://127.0.0.1:8787",
        // The gateway answers to its own name and origin only; the development server speaks for the page.
        changeOrigin: true,
        configure: (proxy) => {
          proxy.on("proxyReq", (request) => {
            request.removeHeader("origin");
          });
        },
      },
    },
  },
  test: {
    include: ["src/**/*.test.{ts,tsx}"],
  },
});
