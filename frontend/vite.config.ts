/** How the page is built, served while developing (API on :8000) and tested. */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const API = process.env["TEXT2SQL_API"] ?? "http://127.0.0.1:8000";
const PATHS = ["/presets", "/schema", "/query", "/runs", "/threads", "/sql", "/feedback", "/databases", "/kept", "/boards", "/shared", "/model", "/lab/runs", "/health", "/terms", "/drill", "/schedules", "/deliveries"];

export default defineConfig({
  base: "./", // the server says below which path the page is
  plugins: [react()],
  server: { proxy: Object.fromEntries(PATHS.map((path) => [path, API])) },
  build: {
    target: "es2023",
    assetsInlineLimit: 0, // a data: URL would need a wider content security policy
    modulePreload: { polyfill: false },
    manifest: true,
  },
  test: {
    environment: "jsdom",
    include: ["test/**/*.test.{ts,tsx}"],
    isolate: false, // one document for all files: making one takes longer than most tests
    testTimeout: 30_000,
    setupFiles: ["test/setup.ts"],
    css: { modules: { classNameStrategy: "non-scoped" } },
  },
});
