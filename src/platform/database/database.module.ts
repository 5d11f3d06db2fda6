import { type DynamicModule, Global, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { CONFIG, type Config } from '../config';
import { LOGGER, type Logger } from '../telemetry';
import { dataSourceOptions } from './data-source-options';
import { Database } from './database';
import { DatabaseMonitor } from './database-monitor';

@Global()
@Module({})
export class DatabaseModule {
  /** The pool is opened by the start-up (`main.ts`), which waits for a database that is not there yet; hence `manualInitialization`. */
  static forRoot(parts: Pick<DataSourceOptions, 'entities' | 'migrations'>): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [CONFIG],
          useFactory: (config: Config) => ({ ...dataSourceOptions(config, parts), manualInitialization: true }),
        }),
      ],
      providers: [
        {
          provide: Database,
          inject: [getDataSourceToken()],
          useFactory: (dataSource: DataSource) => new Database(dataSource),
        },
        {
          provide: DatabaseMonitor,
          inject: [getDataSourceToken(), LOGGER],
          useFactory: (dataSource: DataSource, log: Logger) => new DatabaseMonitor(dataSource, log),
        },
      ],
      exports: [Database, DatabaseMonitor, TypeOrmModule],
    };
  }
}
