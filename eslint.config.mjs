import { join } from 'node:path';
import js from '@eslint/js';
import vitest from '@vitest/eslint-plugin';
import prettier from 'eslint-config-prettier';
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import { importX } from 'eslint-plugin-import-x';
import n from 'eslint-plugin-n';
import tseslint from 'typescript-eslint';

const root = import.meta.dirname;

/** The arrows of the house: what a package may never import. */
const arrows = {
  'packages/protocol': ['@codelanes/bridge', '@codelanes/worker', '@codelanes/librechat', 'codelanes'],
  'packages/bridge': ['@codelanes/worker', '@codelanes/librechat', 'codelanes'],
  'packages/worker': ['@codelanes/bridge', '@codelanes/librechat', 'codelanes'],
  'packages/librechat': ['@codelanes/bridge', '@codelanes/worker', 'codelanes'],
};

const packages = [...Object.keys(arrows), 'apps/cli', 'e2e', 'bench'];

/** The floors inside a package, from the top; a floor may import only floors below it. */
const floors = {
  'packages/bridge': [['server'], ['routes'], ['dispatch', 'auth'], ['pairing'], ['metrics'], ['scheduler']],
  'packages/worker': [
    ['worker'],
    ['tools'],
    ['setup', 'preparation', 'programmatic'],
    ['commands'],
    ['sandbox'],
    ['network'],
    ['lanes'],
    ['git', 'environment'],
    ['files'],
    ['clock'],
  ],
};

const floorZones = Object.entries(floors)
  .flatMap(([pkg, levels]) =>
    levels.flatMap((level, depth) =>
      level.map((folder) => ({
        target: `./${pkg}/src/${folder}/**/!(*.test).ts`,
        from: [...levels.slice(0, depth).flat(), ...level.filter((other) => other !== folder)].map(
          (above) => `./${pkg}/src/${above}`,
        ),
        message: `${folder} stands below: it may not import what stands above or beside it (DESIGN, "The house").`,
      })),
    ),
  )
  .filter((zone) => zone.from.length > 0);

/** A file may import what its own package names, or the root for all. */
const dependenciesOf = (/** @type {readonly string[]} */ ...packages) => [
  'error',
  {
    packageDir: [...packages.map((pkg) => join(root, pkg)), root],
    devDependencies: ['**/*.test.ts', '**/testing/**', '**/vitest.config.ts', '**/scripts/**', '*.{mjs,ts}'],
  },
];

export default tseslint.config(
  { ignores: ['**/dist/**', '**/.turbo/**', '**/node_modules/**', 'e2e/fixtures/**'] },
  js.configs.recommended,
  n.configs['flat/recommended-module'],
  importX.flatConfigs.typescript,
  {
    plugins: { 'import-x': importX },
    settings: {
      'import-x/resolver-next': [
        createTypeScriptImportResolver({
          conditionNames: ['@codelanes/source', 'types', 'import', 'default'],
        }),
      ],
    },
    rules: {
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      'import-x/no-default-export': 'error',
      'import-x/no-extraneous-dependencies': dependenciesOf(),
      'import-x/no-restricted-paths': ['error', { basePath: root, zones: floorZones }],
      'n/no-missing-import': 'off',
      'n/no-unpublished-import': 'off',
      'n/no-process-exit': 'off',
      'n/hashbang': 'off',
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    // One program of the whole tree: with one for each package, their common sources would be checked in each.
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: root } },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/consistent-type-assertions': [
        'error',
        { assertionStyle: 'as', objectLiteralTypeAssertions: 'never' },
      ],
    },
  },
  {
    files: ['**/*.test.ts', 'e2e/src/**/*.ts'],
    plugins: { vitest },
    rules: {
      ...vitest.configs.recommended.rules,
      'vitest/no-focused-tests': 'error',
      'vitest/no-disabled-tests': 'error',
      'vitest/expect-expect': [
        'error',
        { assertFunctionNames: ['expect', 'expect*', 'fc.assert', 'assert*'] },
      ],
    },
  },
  {
    files: ['scripts/**', 'eslint.config.mjs', '*.config.ts', '**/vitest.config.ts', 'vitest.shared.ts'],
    rules: { 'import-x/no-default-export': 'off', 'n/no-unsupported-features/node-builtins': 'off' },
  },
  ...packages.map((pkg) => ({
    files: [`${pkg}/**`],
    rules: { 'import-x/no-extraneous-dependencies': dependenciesOf(pkg) },
  })),
  ...Object.entries(arrows).map(([pkg, forbidden]) => ({
    files: [`${pkg}/src/**/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: forbidden.map((name) => ({
            group: [name, `${name}/*`],
            message: 'Arrows run one way: apps → librechat, bridge, worker → protocol.',
          })),
        },
      ],
    },
  })),
  prettier,
);
