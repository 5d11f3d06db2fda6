import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import { dirname } from 'node:path';
import tseslint from 'typescript-eslint';

const root = dirname(import.meta.dirname);
const globals = (...names) => Object.fromEntries(names.map((name) => [name, 'readonly']));

/** Bounds of a file and a function; aims are far lower. */
const size = {
  'max-lines': ['error', { max: 300 }],
  'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
  'max-params': ['error', { max: 5 }],
};

export default defineConfig(
  { ignores: ['dist/**', 'coverage/**', 'node_modules/**', 'bench/results/**', 'docs/**'] },
  js.configs.recommended,
  {
    rules: {
      ...size,
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['**/*.ts', '**/*.mts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { project: ['tsconfig.json', 'test/tsconfig.json'], tsconfigRootDir: root },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Interfaces of doors answer with promises; one implementation may have nothing to wait for.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // A constructor's parameters are what a class depends on: six at most.
    files: ['src/**/*.ts', 'src/**/*.mts'],
    rules: { 'max-params': 'off', '@typescript-eslint/max-params': ['error', { max: 6 }] },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  { files: ['migrations/**/*.ts'], rules: { 'max-lines-per-function': 'off' } },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: globals(
        ...['process', 'console', 'fetch', 'Buffer', 'URL', 'performance', 'AbortController', 'AbortSignal'],
        ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'structuredClone'],
        ...['TextDecoder', 'TextEncoder', 'module', 'require', '__dirname'],
      ),
    },
  },
);
