/** What the declarations of a schema say of its values, in place of zod's own: the package of buyers needs no zod. */
export declare namespace z {
  interface ZodType<Out = unknown> {
    readonly out: Out;
  }
  type infer<T extends ZodType> = T['out'];
  type ZodString = ZodType<string>;
  type ZodISODateTime = ZodType<string>;
  type ZodISODate = ZodType<string>;
  type ZodURL = ZodType<string>;
  type ZodInt = ZodType<number>;
  type ZodNumber = ZodType<number>;
  type ZodBoolean = ZodType<boolean>;
  type ZodUnknown = ZodType;
  type ZodLiteral<Value> = ZodType<Value>;
  type ZodEnum<Values extends Readonly<Record<string, string>>> = ZodType<Values[keyof Values]>;
  type ZodNullable<T extends ZodType> = ZodType<T['out'] | null>;
  type ZodDefault<T extends ZodType> = ZodType<T['out']>;
  type ZodArray<T extends ZodType> = ZodType<T['out'][]>;
  type ZodUnion<T extends readonly ZodType[]> = ZodType<T[number]['out']>;
  type ZodTuple<T extends readonly ZodType[], _Rest = null> = ZodType<{
    [I in keyof T]: T[I] extends ZodType<infer Out> ? Out : never;
  }>;
  type ZodRecord<_Key, T extends ZodType> = ZodType<{ [name: string]: T['out'] }>;
  interface Absent<Out> extends ZodType<Out> {
    readonly absent: true;
  }
  type ZodOptional<T extends ZodType> = Absent<T['out'] | undefined>;
  type ZodExactOptional<T extends ZodType> = Absent<T['out']>;
  type Shape = Readonly<Record<string, ZodType>>;
  type ZodObject<S extends Shape, _Strictness = unknown> = ZodType<
    { [K in keyof S as S[K] extends Absent<unknown> ? never : K]: S[K]['out'] } & {
      [K in keyof S as S[K] extends Absent<unknown> ? K : never]?: S[K]['out'];
    }
  >;
  namespace core {
    type $strict = unknown;
    type $loose = unknown;
    type $strip = unknown;
    type $partial = unknown;
  }
}
