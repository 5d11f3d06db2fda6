import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { linkNext, PageQuery } from '../platform/http';
import { Allow, TheCaller } from './allow';
import { ApiKeys } from './api-keys';
import type { Caller } from './principal';
import { ApiKeyDto, type ApiKeyPageDto, CreateApiKeyDto, type CreatedApiKeyDto, RevokeApiKeyDto } from './staff.dto';
import { CreateApiKey, GetApiKey, ListApiKeys, RevokeApiKey } from './staff.openapi';

@ApiTags('staff')
@Controller('v1/api-keys')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeys) {}

  @Get()
  @Allow('admin', 'staff')
  @ListApiKeys()
  async page(
    @Query() query: PageQuery,
    @TheCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApiKeyPageDto> {
    const { items, nextCursor } = await this.keys.page(caller, query.limit, query.cursor);
    linkNext(reply, '/v1/api-keys', query, nextCursor);
    return { items: items.map((key) => ApiKeyDto.of(key)), nextCursor };
  }

  @Get(':id')
  @Allow('admin', 'staff')
  @GetApiKey()
  async find(@Param('id') id: string, @TheCaller() caller: Caller): Promise<ApiKeyDto> {
    return ApiKeyDto.of(await this.keys.find(caller, id));
  }

  @Post()
  @HttpCode(201)
  @Allow('admin', 'staff')
  @CreateApiKey()
  async create(
    @Body() { name, role, areas, partners, expiresAt }: CreateApiKeyDto,
    @TheCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CreatedApiKeyDto> {
    const { token, ...key } = await this.keys.create(caller, {
      ...{ name, role, areas: areas ?? null, partners: partners ?? null },
      expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
    });
    void reply.header('location', `/v1/api-keys/${key.id}`);
    return { ...ApiKeyDto.of(key), token };
  }

  @Post(':id/revocation')
  @HttpCode(200)
  @Allow('admin', 'staff')
  @RevokeApiKey()
  async revoke(
    @Param('id') id: string,
    @Body() { reason }: RevokeApiKeyDto,
    @TheCaller() caller: Caller,
  ): Promise<ApiKeyDto> {
    return ApiKeyDto.of(await this.keys.revoke(caller, id, reason));
  }
}
