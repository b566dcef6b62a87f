// Builds the page: node build.mjs OUT.html. One file with all of it in, and a hole for the reports (src/cli fills it: `pando view`).
// PANDO_NODE_MODULES: where the packages of package-lock.json are, if not beside this file.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const modules = process.env.PANDO_NODE_MODULES ?? join(here, "node_modules");
const { build } = createRequire(join(modules, "of_the_viewer.js"))("esbuild");
const out = resolve(process.argv[2] ?? join(here, "viewer.html"));

// `import views from "views"`: every file of src/views, by name. A view is one file; nothing else lists it.
const index = {
  name: "index of views",
  setup(b) {
    b.onResolve({ filter: /^views$/ }, () => ({ path: "views", namespace: "index" }));
    b.onLoad({ filter: /.*/, namespace: "index" }, () => {
      const files = readdirSync(join(here, "src/views")).filter((f) => f.endsWith(".tsx")).sort();
      const lines = files.map((f, i) => `import v${i} from "./src/views/${f}";`);
      return { contents: `${lines.join("\n")}\nexport default [${files.map((_, i) => `v${i}`).join(", ")}];`, resolveDir: here, loader: "ts" };
    });
  },
};

const result = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.tsx"],
  bundle: true,
  minify: true,
  write: false,
  outdir: "out",
  format: "iife",
  target: ["chrome100", "firefox100", "safari15.4"],
  legalComments: "none",
  plugins: [index],
  jsx: "automatic",
  jsxImportSource: "preact",
  nodePaths: [modules],
});
const text = (suffix) => result.outputFiles.filter((f) => f.path.endsWith(suffix)).map((f) => f.text).join("\n");
// The libraries' licences travel with what is made of them.
const licences = ["preact", "uplot", "fflate"].map((name) => `${name}:\n${readFileSync(join(modules, name, "LICENSE"), "utf8").trim()}`).join("\n\n");
const page = readFileSync(join(here, "src/page.html"), "utf8")
  .replace("<!-- licences -->", () => `<!--\n${licences.replaceAll("--", "- -")}\n-->`)
  .replace("/* style */", () => text(".css"))
  .replace("/* script */", () => text(".js").replaceAll("</script", "<\\/script"));
writeFileSync(out, page);
