/**
 * Builds the console. The names of the files in `assets/` contain a hash. No file is inlined, so that the
 * Content-Security-Policy can refuse inline code and data.
 */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react()],
  // `outDir` is absent: the build command gives it as --outDir.
  build: { emptyOutDir: true, assetsInlineLimit: 0, target: 'es2023', reportCompressedSize: false },
});
