import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { AppError } from '../platform/errors';
import { permissionOf } from './permission';

/** Keeps the process from starting while an HTTP operation does not say who may call it; names all of them. */
@Injectable()
export class OperationsCheck implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  onModuleInit(): void {
    const open = this.discovery.getControllers().flatMap(({ metatype }) => this.unstated(metatype as Type | null));
    if (open.length === 0) return;
    throw new AppError('operations-unguarded', `Operations do not say who may call them: ${open.join(', ')}.`, {
      hint: 'Give each @Allow(role, area), or @Public() if anybody may call it.',
    });
  }

  private unstated(controller: Type | null): string[] {
    const methods = (controller?.prototype ?? {}) as Record<string, (...args: never[]) => unknown>;
    return controller === null
      ? []
      : this.scanner
          .getAllMethodNames(methods)
          .map((name) => ({ name, handler: methods[name] as (...args: never[]) => unknown }))
          .filter(({ handler }) => Reflect.hasMetadata(METHOD_METADATA, handler))
          .filter(({ handler }) => permissionOf(this.reflector, handler, controller) === undefined)
          .map(({ name }) => `${controller.name}.${name}`);
  }
}
