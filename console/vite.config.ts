import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const SERVER = process.env["HTM_URL"] ?? "http://127.0.0.1:7480";

// The names of the files are fixed: the server embeds them, and tells browsers by an ETag when they change.
export default defineConfig({
  base: "/console/",
  resolve: {
    alias: { "htm-memory": fileURLToPath(new URL("../clients/typescript/src/index.ts", import.meta.url)) },
  },
  // `npm run dev` shows the sources at /console/, with the API of a server that runs beside it.
  // The host of a request stays as it is: the server takes changes only from pages of the same place.
  server: {
    proxy: {
      "/v1": { target: SERVER, changeOrigin: false },
      "/console/sign-in": { target: SERVER, changeOrigin: false },
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../crates/htm-server/console",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: {
      output: { entryFileNames: "app.js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
    },
  },
});
