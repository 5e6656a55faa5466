export interface Column {
  readonly name: string;
  readonly isNumber?: boolean;
}

/** The first row of a table. */
export function TableHead({ columns }: { readonly columns: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {columns.map(({ name, isNumber }) => (
          <th key={name} scope="col" class={isNumber ? 'number' : ''}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
