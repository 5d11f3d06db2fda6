import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { linkNext } from '../platform/http';
import { Allow, TheCaller } from './allow';
import { AuditLog } from './audit-log';
import type { Caller } from './principal';
import { AuditEntryDto, type AuditPageDto, ListAuditDto } from './staff.dto';
import { ListAuditEntries } from './staff.openapi';

@ApiTags('staff')
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly log: AuditLog) {}

  @Get()
  @Allow('admin', 'staff')
  @ListAuditEntries()
  async page(
    @Query() query: ListAuditDto,
    @TheCaller() by: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AuditPageDto> {
    const { since, limit, cursor, ...where } = query;
    const filter = { ...where, since: since === undefined ? undefined : new Date(since) };
    const { items, nextCursor } = await this.log.page(by, filter, limit, cursor);
    linkNext(reply, '/v1/audit', query, nextCursor);
    return { items: items.map((entry) => AuditEntryDto.of(entry)), nextCursor };
  }
}
