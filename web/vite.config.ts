// One HTML file with its script and its style in it, all ASCII: the program puts data into the report as text. PAGE says which page.
import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

const page = process.env.PAGE ?? 'report';
export default defineConfig({
  root: page,
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: 'es2020', outDir: `../dist/${page}`, emptyOutDir: true, modulePreload: false, reportCompressedSize: false },
});
