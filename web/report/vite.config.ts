// One HTML file with its script and its style in it, all ASCII: the program puts data into it as text.
import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: 'es2020', outDir: 'dist', modulePreload: false, reportCompressedSize: false },
});
